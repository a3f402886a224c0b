/** Names of what a build or a package manager makes anew. */

/** Directories that nobody else fills. */
export const DEPENDENCIES =
  /^(node_modules|bower_components|\.venv|venv|virtualenv|site-packages|__pycache__|\.tox)$/;

/** Directories that may hold sources, too. */
export const MAYBE_DEPENDENCIES = /^(vendor|target|build|dist|out|deps|third_party|\.gradle|\.cargo|pods)$/i;

const OTHER_OUTPUT =
  /^(\..*cache|\.(next|nuxt|parcel-cache|turbo|eggs|nyc_output)|coverage|obj|.*\.egg-info|cmake-build-.*|bazel-.*)$|\.(o|obj|lo|la|a|so(\.[\d.]+)?|dylib|dll|exe|class|py[co]|d|gcda|gcno)$/i;

/** The name of a file or a directory that git ignores. */
export function isBuildOutput(name: string): boolean {
  return [DEPENDENCIES, MAYBE_DEPENDENCIES, OTHER_OUTPUT].some((names) => names.test(name));
}
