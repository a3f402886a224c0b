/** What `agt doctor` says of one thing. */
export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  /** The session, file or setting that it is about. */
  readonly about: string;
  readonly problem: string;
  /** The command that puts it right, or what to do. */
  readonly mend: string;
  /** Puts it right; left out where a person has to decide. Nothing that was not captured is lost by it. */
  readonly fix?: () => unknown;
}
