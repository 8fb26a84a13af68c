// Entry points of the program's threads, relative to `core`. A bundle puts them beside its main file, where the
// URLs of `new Worker` look for them.
export const threadEntries = [
  'platform/store/writer/thread-main.ts',
  'features/sign-in/password-thread.ts',
] as const;
