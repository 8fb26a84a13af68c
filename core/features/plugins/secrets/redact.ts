// Redacts secrets in responses, because a receiver may echo them and the guest can write all data that it
// reads.

/**
 * Returns the Base64 forms of a secret without the characters that depend on adjacent bytes, so that the
 * secret is found inside other encoded text.
 */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.from(`${'\0'.repeat(offset)}${secret}`);
    const whole = bytes.toString('base64').replace(/=+$/, '');
    const isExact = bytes.length % 3 === 0;
    const form = whole.slice(Math.ceil((offset * 8) / 6), isExact ? undefined : -1);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Returns the forms in which a receiver may echo a secret, longest first. */
function formsOf(secret: string): string[] {
  const percent = encodeURIComponent(secret);
  const hex = Buffer.from(secret).toString('hex');
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = new Set([
    ...[secret, json, json.replaceAll('/', '\\/'), percent, percent.replaceAll('%20', '+')],
    ...[hex, hex.toUpperCase(), ...base64Forms(secret)],
  ]);
  return [...forms].sort((a, b) => b.length - a.length);
}

/** @param secrets values by name; at least 8 characters each, so that no ordinary text matches */
export function createRedact(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const forms = [...secrets].flatMap(([name, secret]) =>
    formsOf(secret).map((form) => ({ form, shown: `[secret ${name}]` })),
  );
  return (text) => forms.reduce((rest, { form, shown }) => rest.replaceAll(form, () => shown), text);
}
