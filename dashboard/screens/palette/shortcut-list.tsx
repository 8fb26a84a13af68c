import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { activeShortcuts, areShortcutsOn, switchShortcuts } from '../../parts/shortcuts.ts';
import { text as shell } from '../../text/shell.ts';
import { text } from '../../text/palette.ts';

export default function ShortcutList({ onClose }: { readonly onClose: () => void }): ReactNode {
  // Read once, because the dialog itself hides those of the screen below.
  const [shortcuts] = useState(activeShortcuts);
  const [areOn, setOn] = useState(areShortcutsOn);
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
          checked={areOn}
          onChange={({ target }) => {
            switchShortcuts(target.checked);
            setOn(target.checked);
          }}
        />
        {text.shortcutsOn}
      </label>
      <p className="soft">{text.shortcutHint}</p>
    </Dialog>
  );
}
