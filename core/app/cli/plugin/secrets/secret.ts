// A plugin's secret as the commands show it, and where it is.

export interface Secret {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly header: string;
  readonly setAt: string | null;
}

export function secretsPath(plugin: string, name?: string): string {
  const path = `/plugins/${encodeURIComponent(plugin)}/secrets`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}

export function secretLine({ name, hosts, header, setAt }: Secret): string {
  return `${name.padEnd(24)} ${(setAt ?? 'not set').padEnd(25)} sent as ${header} to ${hosts.join(', ')}`;
}
