/** A value that is computed when it is first asked for. */
export function once<T>(compute: () => T): () => T {
  let value: { result: T } | undefined;
  return () => {
    value ??= { result: compute() };
    return value.result;
  };
}

/** The same for each key. */
export function onceForEach<Key, T>(compute: (key: Key) => T): (key: Key) => T {
  const known = new Map<Key, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key) as T;
  };
}
