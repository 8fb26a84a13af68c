// Entry points of the program's threads, relative to `core`. A bundle puts them beside its main file, where
// `new Worker(new URL('./NAME.ts', import.meta.url))` looks for them.
export const threadEntries = [
  'platform/store/writer/thread-main.ts',
  'features/sign-in/password-thread.ts',
] as const;
