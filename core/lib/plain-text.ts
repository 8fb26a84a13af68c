// Text of strangers that people will read on a terminal.

/** C0 and C1 but for line ends and tabs, line separators, and what turns the direction of writing. */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Terminal escapes and other control characters become visible; line ends and tabs stay. */
export function plainText(text: string): string {
  return text.replace(control, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
