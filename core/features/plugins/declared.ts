// Finds a handler of a manifest by a name from the caller. `hasOwn` excludes inherited members such as `constructor`.

export function declared<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members && Object.hasOwn(members, name) ? members[name] : undefined;
}
