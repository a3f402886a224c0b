/** Times and sizes as lists of snapshots show them. */

/** In local time, and in a form that names the snapshot again. */
export function localTime(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `0`, `812`, `1.2K`, `34M`. */
export function fileSize(bytes: number): string {
  let size = bytes;
  for (const unit of ['', 'K', 'M', 'G']) {
    if (size < 1000)
      return unit === '' || size >= 10 ? `${Math.round(size)}${unit}` : `${size.toFixed(1)}${unit}`;
    size /= 1024;
  }
  return `${Math.round(size)}T`;
}
