/** A value that is computed when it is first asked for. */
export function once<T>(compute: () => T): () => T {
  let value: { result: T } | undefined;
  return () => {
    value ??= { result: compute() };
    return value.result;
  };
}
