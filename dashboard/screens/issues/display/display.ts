// Fields and height of the rows of a list. The address has what differs from the default, so that a copied address
// shows the same rows; without it, the list has the fields that this browser remembers, and the preferred density.
import { useEffect, useMemo, useState } from 'react';
import type { Preferences } from '@tatami/sdk/client';
import { useChangePreferences, usePreferences } from '../../../data/preferences.ts';
import { useSession } from '../../../data/provider.tsx';
import type { IssueSearch } from '../search.ts';

/** Fields that a row can show beside identifier and title, in their order. */
export const shownFields = [
  'priority',
  'state',
  'labels',
  'project',
  'milestone',
  'cycle',
  'parent',
  'estimate',
  'dueDate',
  'slaDueAt',
  'creator',
  'createdAt',
  'updatedAt',
  'completedAt',
  'assignee',
] as const;
export type ShownField = (typeof shownFields)[number];

export const defaultFields: readonly ShownField[] = [
  'priority',
  'state',
  'labels',
  'project',
  'cycle',
  'estimate',
  'dueDate',
  'updatedAt',
  'assignee',
];

export const densities = ['comfortable', 'compact'] as const;
type Density = Preferences['density'];

const heights: Readonly<Record<Density, number>> = { comfortable: 40, compact: 30 };
/** Targets for fingers are larger (WCAG 2.2, 2.5.8). */
const coarseHeight = 48;

/** Text of a choice without any field. */
const noFields = 'none';

/** Returns a choice of fields as the address has it; undefined for the default fields. */
export function textOfFields(fields: readonly ShownField[]): string | undefined {
  const ordered = shownFields.filter((field) => fields.includes(field));
  if (ordered.join() === defaultFields.join()) return undefined;
  return ordered.length === 0 ? noFields : ordered.join();
}

/** Unknown names, such as those of a later version, are left out. */
export function fieldsOfText(text: string | null | undefined): readonly ShownField[] {
  if (text === null || text === undefined) return defaultFields;
  const names = text.split(',');
  return shownFields.filter((field) => names.includes(field));
}

const densityIn = (text: string | undefined): Density | undefined => densities.find((one) => one === text);

/** Returns what the address has in place of the default. */
const inAddress = (density: Density): Density | undefined =>
  density === 'comfortable' ? undefined : density;

const fieldsKey = (workspace: string, list: string): string => `tatami.fields ${workspace} ${list}`;

/** @returns null for a list with its default fields */
const storedFields = (workspace: string, list: string): string | null =>
  localStorage.getItem(fieldsKey(workspace, list));

/** @param fields null for the default fields of the list */
function storeFields(workspace: string, list: string, fields: string | null): void {
  if (fields === null) localStorage.removeItem(fieldsKey(workspace, list));
  else localStorage.setItem(fieldsKey(workspace, list), fields);
}

type DisplayPart = { readonly [Name in 'show' | 'density']?: string | undefined };

export interface ListDisplay {
  readonly fields: readonly ShownField[];
  readonly density: Density;
  /** Height of a row in pixels. */
  readonly rowHeight: number;
  setFields(fields: readonly ShownField[]): void;
  setDensity(density: Density): void;
}

/**
 * @param list path of the screen or id of the view
 * @param onChange changes the address
 */
export function useDisplay(
  list: string,
  search: IssueSearch,
  onChange: (part: DisplayPart) => void,
): ListDisplay {
  const { workspace } = useSession();
  const { density: preferred } = usePreferences();
  const changePreferences = useChangePreferences();
  const [remembered, remember] = useState(() => ({
    list,
    show: storedFields(workspace.id, list),
  }));
  // The screen of a view stays when another view is opened.
  if (remembered.list !== list) remember({ list, show: storedFields(workspace.id, list) });
  const show = search.show ?? remembered.show;
  const fields = useMemo(() => fieldsOfText(show), [show]);
  const density = densityIn(search.density) ?? preferred;
  const missing: DisplayPart = {
    ...(search.show === undefined && { show: textOfFields(fields) }),
    ...(search.density === undefined && { density: inAddress(density) }),
  };
  const isMissing = missing.show !== undefined || missing.density !== undefined;
  useEffect(() => {
    if (isMissing) onChange(missing);
  }, [isMissing, list]);
  const isCoarse = matchMedia('(pointer: coarse)').matches;
  return {
    fields,
    density,
    rowHeight: isCoarse ? coarseHeight : heights[density],
    setFields(next) {
      const part = textOfFields(next);
      storeFields(workspace.id, list, part ?? null);
      remember({ list, show: part ?? null });
      onChange({ show: part });
    },
    setDensity(next) {
      changePreferences({ density: next });
      onChange({ density: inAddress(next) });
    },
  };
}
