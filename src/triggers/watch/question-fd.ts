/** Descriptors of a process that asks `agt watch` (questions.ts). */
export const QUESTION_FD = { reply: 4, event: 6, pipe: 7 } as const;
