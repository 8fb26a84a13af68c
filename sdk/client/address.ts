/** Returns the base URL of the API of a server. */

export function apiOf(server: string): string {
  return `${server.replace(/\/+$/, '')}/api/v1`;
}
