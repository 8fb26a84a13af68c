// Masks the query values of a URL for display, because they may be secrets. The mask is a character that no URL contains.

const mask = '…';

export function maskedUrl(url: string): string {
  const [, base = url, query, fragment = ''] = /^([^?#]*)\?([^#]*)(#.*)?$/s.exec(url) ?? [];
  if (query === undefined) return url;
  const masked = query.split('&').map((part) => {
    const end = part.indexOf('=');
    return end < 0 ? mask : part.slice(0, end + 1) + mask;
  });
  return `${base}?${masked.join('&')}${fragment}`;
}

export function isMasked(url: string): boolean {
  return url.includes(mask) || url.toUpperCase().includes(encodeURIComponent(mask));
}
