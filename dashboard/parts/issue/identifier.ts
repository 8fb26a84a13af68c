/** Identifier of an issue in a text, such as ENG-42. */
export const identifier = /\b([A-Z][A-Z0-9]{0,9}-[1-9]\d{0,8})\b/;
