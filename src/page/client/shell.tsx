/** All views share this: the address, loading, keys. */
import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { isSaved, type Row } from './api.ts';

/** The address after `#`: a view and what it shows. */
export interface Route {
  readonly view: string;
  readonly [name: string]: string | undefined;
}

function readRoute(): Route {
  const [view = '', query = ''] = location.hash.slice(1).split('?');
  return { ...Object.fromEntries(new URLSearchParams(query)), view: view || 'now' };
}

export function hrefOf({ view, ...rest }: Route): string {
  const given = Object.entries(rest).filter((one): one is [string, string] => !!one[1]);
  return `#${view}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

export const go = (route: Route) => {
  location.hash = hrefOf(route);
};

export function useRoute(): Route {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const change = () => setRoute(readRoute());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return route;
}

export const ofSession = (view: string, row: Row, more: Record<string, string> = {}): Route => ({
  view,
  session: row.session_id,
  ...(row.repository && { repository: row.repository }),
  ...more,
});

export interface Loaded<T> {
  readonly value?: T;
  readonly error?: string;
  readonly isLoading: boolean;
}

/** Keeps the last value while the next one comes. */
export function useLoaded<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ isLoading: true });
  useEffect(() => {
    let isCurrent = true;
    setState(({ value }) => ({ ...(value !== undefined && { value }), isLoading: true }));
    load().then(
      (value) => isCurrent && setState({ value, isLoading: false }),
      (error: Error) => isCurrent && setState({ error: error.message, isLoading: false }),
    );
    return () => {
      isCurrent = false;
    };
  }, keys);
  return state;
}

export function Show<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.error !== undefined) return <Problem text={of.error} />;
  if (of.value === undefined) return <p class="loading">Loading…</p>;
  return <>{children(of.value)}</>;
}

const AT_ONCE = 200;

interface ManyProps<T> {
  readonly all: readonly T[];
  readonly first?: number;
  /** What the button stands in. */
  readonly in?: 'list' | 'table';
  readonly children: (one: T, i: number) => ComponentChildren;
}

/** The first of many, and a button for more: 50,000 at once would freeze the page. */
export function Many<T>({ all, first = AT_ONCE, in: place, children }: ManyProps<T>) {
  const [most, setMost] = useState(first);
  const more = (
    <Button class="more" onClick={() => setMost(most * 4)}>
      Show more of {all.length}
    </Button>
  );
  const inTable = (
    <tr>
      <td colSpan={4}>{more}</td>
    </tr>
  );
  return (
    <>
      {all.slice(0, most).map(children)}
      {all.length > most && (place === 'table' ? inTable : place === 'list' ? <li>{more}</li> : more)}
    </>
  );
}

export const Problem = ({ text }: { text: string }) => (
  <p class="problem" role="alert">
    {text}
  </p>
);

export const Lines = ({ added, removed }: { added: number; removed: number }) => (
  <span class="lines">
    <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
  </span>
);

/** As the `ref` of a field. */
export const focus = (field: HTMLElement | null) => field?.focus();

/** Of a form whose fields are named as in the address. */
export const goTo = (route: Route) => (event: TargetedSubmitEvent<HTMLFormElement>) => {
  event.preventDefault();
  go({ ...route, ...Object.fromEntries(new FormData(event.currentTarget)) } as Route);
};

/** Submits no form. */
export const Button = (props: JSX.IntrinsicElements['button']) => <button type="button" {...props} />;

/** In place of a file that nobody has asked for. */
export const Secret = ({ onShow }: { onShow: () => void }) => (
  <p class="note">
    This file looks like a key, a login or a setting of the agent.{' '}
    {!isSaved && <Button onClick={onShow}>Show it</Button>}
  </p>
);

/** A key without a modifier, unless somebody types. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (keys[key] === undefined) return;
      event.preventDefault();
      keys[key]();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  });
}
