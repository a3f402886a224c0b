/** The client, which scripts/bundle.ts makes: assets of the executable, or files beside the bundle. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRawAsset } from 'node:sea';
import { packed } from '../process/invocation.ts';

export function asset(name: 'page.js' | 'page.css'): string {
  if (packed) return Buffer.from(getRawAsset(name) as ArrayBuffer).toString();
  return readFileSync(join(__dirname, name), 'utf8');
}

export const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>agt</title>`;

/** All is relative to the address with the token. */
export const PAGE = `${HEAD}
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="page.css">
<script defer src="page.js"></script>
</head>
<body><div id="page"><p class="loading">Loading…</p></div></body>
</html>
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3b5bdb"/><path d="M7 22h5v-6h8v-6h5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="25" cy="10" r="3" fill="#ffd43b"/></svg>`;
