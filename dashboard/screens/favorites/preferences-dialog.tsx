import type { Preferences } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useChangePreferences, usePreferences } from '../../data/preferences.ts';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { SelectField } from '../../parts/fields.tsx';
import { text } from '../../text/favorites.ts';
import { text as issues } from '../../text/issues.ts';
import { text as palette } from '../../text/palette.ts';
import { text as shell } from '../../text/shell.ts';

export default function PreferencesDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { theme, density, singleKeyShortcuts, startPage } = usePreferences();
  const change = useChangePreferences();
  return (
    <Dialog title={shell.preferences} isOpen onClose={onClose}>
      <SelectField
        label={shell.theme}
        value={theme}
        options={Object.entries(shell.themes)}
        onPick={(next) => change({ theme: next as Preferences['theme'] })}
      />
      <SelectField
        label={issues.density}
        value={density}
        options={Object.entries(issues.densities)}
        onPick={(next) => change({ density: next as Preferences['density'] })}
      />
      <SelectField
        label={text.startPage}
        value={startPage}
        options={Object.entries(text.startPages)}
        onPick={(next) => change({ startPage: next as Preferences['startPage'] })}
      />
      <label className="row">
        <input
          type="checkbox"
          checked={singleKeyShortcuts}
          onChange={({ target }) => change({ singleKeyShortcuts: target.checked })}
        />
        {palette.shortcutsOn}
      </label>
    </Dialog>
  );
}
