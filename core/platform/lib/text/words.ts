// Converts names between spellings for types, titles, columns and flags.

/** `stateChanged` → `StateChanged` */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** `list-on-issue` → `listOnIssue` */
export function camel(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `createdAt` → `created_at`, the column that stores the value. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the flag of a setting: `dataDir` → `--data-dir`. */
export function flagOf(setting: string): string {
  return `--${setting.replaceAll(/[A-Z]/g, (upper) => `-${upper.toLowerCase()}`)}`;
}
