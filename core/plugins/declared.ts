// A handler of a manifest by its name, which a caller gave: what every object inherits (`constructor`) is none.

export function declared<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members && Object.hasOwn(members, name) ? members[name] : undefined;
}
