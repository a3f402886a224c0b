/** One command with many forms, one a line; `-` is the command alone. */
export const expand = (command: string, forms: string): string[] =>
  forms
    .split('\n')
    .map((form) => form.trim())
    .filter(Boolean)
    .map((form) =>
      form === '-' ? command : form.startsWith('!') ? `!${command} ${form.slice(1)}` : `${command} ${form}`,
    );
