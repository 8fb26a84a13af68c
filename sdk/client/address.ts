/** Where the API of a server stands. */

export function apiOf(server: string): string {
  return `${server.replace(/\/+$/, '')}/api/v1`;
}
