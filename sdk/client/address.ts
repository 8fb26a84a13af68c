export function apiOf(server: string): string {
  return `${server.replace(/\/+$/, '')}/api/v1`;
}
