// Classes of agent actions that need approval by a person. docs/guides/agents.md
export const guardedClasses = ['delete', 'bulk', 'finish', 'others'] as const;
export type GuardedClass = (typeof guardedClasses)[number];
