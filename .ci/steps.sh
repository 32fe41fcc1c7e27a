# Sourced by .ci/run and .ci/nightly, from the root of the checkout: steps with a limit and a time, and what they need.

failed=()
began=$SECONDS

# step MINUTES NAME COMMAND...: runs it to its end or its limit. A failure is remembered, and the steps after it still run.
step() {
  local limit=$1 name=$2 start=$SECONDS code=0
  shift 2
  printf '\n=== %s\n' "$name"
  timeout --kill-after=20s "${limit}m" "$@" </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    printf '=== %s: done in %d s\n' "$name" $((SECONDS - start))
  else
    printf '=== %s: FAILED with %d after %d s\n' "$name" "$code" $((SECONDS - start))
    failed+=("$name")
  fi
}

# finish: the verdict over all steps; ends the script.
finish() {
  printf '\n=== %d s in all\n' $((SECONDS - began))
  if [ ${#failed[@]} -gt 0 ]; then
    printf '=== FAILED: %s\n' "${failed[@]}"
    exit 1
  fi
  exit 0
}

# needs COMMAND PACKAGE...: Debian packages, if the command is not there. One list, so that apt runs once.
missing=()
needs() {
  command -v "$1" >/dev/null 2>&1 || missing+=("${@:2}")
}

# needs_package PACKAGE...: Debian packages that bring no command: headers of libraries.
needs_package() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
}

# Retried once: a package list is sometimes half written when it is fetched.
install_missing() {
  [ ${#missing[@]} -gt 0 ] || return 0
  export DEBIAN_FRONTEND=noninteractive
  printf 'installing %s\n' "${missing[*]}"
  apt-get update -qq || apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The Node and the tools that npm ci brought. Where they do not run, the machine's own Node does.
use_own_node() {
  export PATH="$PWD/node_modules/.bin:$PATH"
  printf 'Node %s\n' "$(node --version)"
}

# What the other clients and Kafka itself are run with. Go comes from the machine: Debian's may be too old.
needs_of_other_clients() {
  needs kcat kcat
  needs mvn maven
  needs javac openjdk-17-jdk-headless
  needs go golang-go
  needs python3 python3
  python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
}
