// Display of lists as this browser remembers it: fields by workspace and list, density for all lists.
const densityKey = 'tatami.density';
const fieldsKey = (workspace: string, list: string): string => `tatami.fields ${workspace} ${list}`;

export const storedDensity = (): string | null => localStorage.getItem(densityKey);

export function storeDensity(density: string): void {
  localStorage.setItem(densityKey, density);
}

/** @returns null for a list with its default fields */
export const storedFields = (workspace: string, list: string): string | null =>
  localStorage.getItem(fieldsKey(workspace, list));

/** @param fields null for the default fields of the list */
export function storeFields(workspace: string, list: string, fields: string | null): void {
  if (fields === null) localStorage.removeItem(fieldsKey(workspace, list));
  else localStorage.setItem(fieldsKey(workspace, list), fields);
}
