// Servers that tests start as separate processes, to kill, damage or flood them: modules with a `main`. They
// are part of the bundle of `tatami` (program.ts), because a start from source takes half a second more CPU
// time. Programs that load only the store start faster from source.
export const ownPrograms = {
  arena: () => import('./fairness/arena-process.ts'),
  core: () => import('./faults/core-process.ts'),
  damage: () => import('./faults/damage-process.ts'),
} satisfies Record<string, () => Promise<{ main(args: readonly string[]): Promise<void> }>>;

export type OwnProgram = keyof typeof ownPrograms;

/** Prefix of the argument that names one of them. */
export const programPrefix = 'own-program=';
