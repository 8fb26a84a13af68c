// The classes of what waits for a person's approval when an agent asks for it. docs/guides/agents.md
export const guardedClasses = ['delete', 'bulk', 'finish', 'others'] as const;
export type GuardedClass = (typeof guardedClasses)[number];
