const prefix = 'tatami.form ';
/** Time to confirm a sign-in, also with a second factor. */
const storedMs = 5 * 60_000;

interface StoredForms {
  /** Returns undefined for a form that was not stored, was removed, or is too old. */
  find(key: string): unknown;
  remove(key: string): void;
  store(key: string, value: unknown): void;
}

/** Moves what an earlier page stored into memory, so that it can be used once. */
export function storedForms(storage: Storage, nowMs: () => number = Date.now): StoredForms {
  const found = new Map<string, unknown>();
  const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at)!);
  for (const key of keys.filter((one) => one.startsWith(prefix))) {
    const form = parsed(storage.getItem(key)!);
    storage.removeItem(key);
    if (form && nowMs() < form.until) found.set(key, form.value);
  }
  return {
    find: (key) => found.get(prefix + key),
    remove: (key) => void found.delete(prefix + key),
    store: (key, value) =>
      storage.setItem(prefix + key, JSON.stringify({ until: nowMs() + storedMs, value })),
  };
}

function parsed(json: string): { readonly until: number; readonly value: unknown } | null {
  try {
    return JSON.parse(json) as { until: number; value: unknown };
  } catch {
    return null;
  }
}
