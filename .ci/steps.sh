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
  if [ ${#missing[@]} -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    printf 'installing %s\n' "${missing[*]}"
    apt-get update -qq || apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
  install_go
}

# The Node and the tools that npm ci brought. Where they do not run, the machine's own Node does.
use_own_node() {
  export PATH="$PWD/node_modules/.bin:$PATH"
  printf 'Node %s\n' "$(node --version)"
}

# What the other clients and Kafka itself are run with.
needs_of_other_clients() {
  needs_go
  needs kcat kcat
  needs mvn maven
  needs javac openjdk-17-jdk-headless
  needs unzip unzip
  needs python3 python3
  python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
}

go_version=1.26.0
go_folder=$HOME/.cache/millrace-go/$go_version

# Debian's Go is too old: what is not on the machine comes from where go itself finds its newer versions.
needs_go() {
  export PATH="$go_folder/bin:/usr/local/go/bin:$PATH"
  needs curl curl ca-certificates
}

install_go() {
  local found name archive
  found=$(go env GOVERSION 2>/dev/null || true)
  [ "$(printf '%s\n' "go$go_version" "$found" | sort -V | head -n 1)" != "go$go_version" ] || return 0
  name="v0.0.1-go$go_version.linux-$(dpkg --print-architecture)"
  archive=$(mktemp)
  printf 'installing Go %s\n' "$go_version"
  mkdir -p "$(dirname "$go_folder")"
  curl -fsSL --retry 2 -o "$archive" "https://proxy.golang.org/golang.org/toolchain/@v/$name.zip"
  unzip -q -d "$go_folder.new" "$archive"
  rm -rf "$archive" "$go_folder"
  mv "$go_folder.new/golang.org/toolchain@$name" "$go_folder"
  rm -r "$go_folder.new"
  chmod +x "$go_folder"/bin/* "$go_folder"/pkg/tool/*/*
  hash -r
}
