/**
 * Loads a package that has a binary for each platform. Undefined where none loads: a static import would keep the whole
 * program from starting there, and a top-level await would keep CommonJS programs from loading the client.
 */
export function loadNative<Module>(name: string): Module | undefined {
  try {
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)(name) as Module
  } catch {
    return undefined
  }
}
