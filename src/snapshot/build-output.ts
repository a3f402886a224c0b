/** Names of what a build or a package manager makes anew. */

/** Directories that nobody else fills. */
export const DEPENDENCIES =
  /^(node_modules|bower_components|\.venv|venv|virtualenv|site-packages|__pycache__|\.tox)$/;

/** Directories that may hold sources or results, too. */
export const MAYBE_DEPENDENCIES =
  /^(vendor|target|build|dist|out|obj|coverage|deps|third_party|\.gradle|\.cargo|pods)$/i;

/** Beside one of these, such a directory is made by a build. */
const OF_BUILD =
  'package.json Cargo.toml Makefile CMakeLists.txt pom.xml build.gradle build.gradle.kts go.mod pyproject.toml ' +
  'setup.py meson.build composer.json Package.swift mix.exs';

const OTHER_OUTPUT =
  /^(\..*cache|\.(next|nuxt|parcel-cache|turbo|eggs|nyc_output)|.*\.egg-info|cmake-build-.*|bazel-.*)$|\.(o|obj|lo|la|a|so(\.[\d.]+)?|dylib|dll|exe|class|py[co]|d|gcda|gcno)$/i;

/** The name of a file or a directory that git ignores. */
export function isBuildOutput(name: string): boolean {
  return [DEPENDENCIES, MAYBE_DEPENDENCIES, OTHER_OUTPUT].some((names) => names.test(name));
}

/** Whether a build makes the file again. `has`: a path beside it. */
export function isMadeAgain(path: string, has: (path: string) => boolean): boolean {
  const parts = path.split('/');
  const isBuilt = (above: string) => OF_BUILD.split(' ').some((name) => has(above + name));
  const aboveOf = (i: number) =>
    parts
      .slice(0, i)
      .map((part) => `${part}/`)
      .join('');
  return parts.some(
    (name, i) => isBuildOutput(name) && (!MAYBE_DEPENDENCIES.test(name) || isBuilt(aboveOf(i))),
  );
}
