// How names are spelled where they become parts of other names: types, titles, flags.

/** `stateChanged` → `StateChanged` */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The flag of a setting: `dataDir` → `--data-dir` */
export function flagOf(setting: string): string {
  return `--${setting.replaceAll(/[A-Z]/g, (upper) => `-${upper.toLowerCase()}`)}`;
}
