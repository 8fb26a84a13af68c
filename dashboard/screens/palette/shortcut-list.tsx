import { useState, type ReactNode } from 'react';
import { useChangePreferences, usePreferences } from '../../data/preferences.ts';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { activeShortcuts } from '../../parts/shortcuts.ts';
import { text as shell } from '../../text/shell.ts';
import { text } from '../../text/palette.ts';

export default function ShortcutList({ onClose }: { readonly onClose: () => void }): ReactNode {
  // Read once, because the dialog itself hides those of the screen below.
  const [shortcuts] = useState(activeShortcuts);
  const { singleKeyShortcuts } = usePreferences();
  const changePreferences = useChangePreferences();
  return (
    <Dialog title={shell.shortcuts} isOpen onClose={onClose}>
      <table>
        <tbody>
          {shortcuts.map(({ keys, label }) => (
            <tr key={keys + label}>
              <th scope="row">
                <kbd>{keys.replace('mod', 'Ctrl/⌘')}</kbd>
              </th>
              <td>{label}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label className="row">
        <input
          type="checkbox"
          checked={singleKeyShortcuts}
          onChange={({ target }) => changePreferences({ singleKeyShortcuts: target.checked })}
        />
        {text.shortcutsOn}
      </label>
      <p className="soft">{text.shortcutHint}</p>
    </Dialog>
  );
}
