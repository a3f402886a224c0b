/** Times as people read them, and as git writes them. */
const two = (n: number) => String(Math.floor(n)).padStart(2, '0');

/** `2026-01-05 12:00:07`, in local time: a form in which a command takes a snapshot. */
export function localTime(date: Date): string {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** A time zone by its minutes from UTC, as git writes it: +0100. */
export function timeZone(minutes: number): string {
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}${two(Math.abs(minutes) % 60)}`;
}
