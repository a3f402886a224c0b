/** The lines of one command: each line of `forms` holds arguments, and `-` stands for none. */
export const expand = (command: string, forms: string): string[] =>
  forms
    .split('\n')
    .map((form) => form.trim())
    .filter(Boolean)
    .map((form) =>
      form === '-' ? command : form.startsWith('!') ? `!${command} ${form.slice(1)}` : `${command} ${form}`,
    );
