// An address as it is shown: the values of its query may be secrets, so each is replaced by a sign that no address holds.

const mask = '…';

export function maskedUrl(url: string): string {
  const [, base = url, query, fragment = ''] = /^([^?#]*)\?([^#]*)(#.*)?$/s.exec(url) ?? [];
  if (query === undefined) return url;
  const shown = query.split('&').map((part) => {
    const end = part.indexOf('=');
    return end < 0 ? mask : part.slice(0, end + 1) + mask;
  });
  return `${base}?${shown.join('&')}${fragment}`;
}

/** Whether an address was shown, and is not the whole one. */
export function isMasked(url: string): boolean {
  return url.includes(mask) || url.toUpperCase().includes(encodeURIComponent(mask));
}
