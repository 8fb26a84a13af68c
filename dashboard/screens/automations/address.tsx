// Address for the requests that trigger an automation.
import type { AutomationWebhook } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { SecretDialog } from '../../parts/overlay/secret-dialog.tsx';
import { text } from '../../text/automation-health.ts';

export function Address({ id }: { readonly id: string }): ReactNode {
  const write = useWrite();
  const [opened, setOpened] = useState<AutomationWebhook | null>(null);
  const [isSecretShown, showSecret] = useState(false);
  const open = async (): Promise<void> => {
    const made = await write((client) => client.automations.openWebhook(id));
    setOpened(made);
    showSecret(made !== null);
  };
  const close = async (): Promise<void> => {
    await write((client) => client.automations.closeWebhook(id), text.closed);
    setOpened(null);
  };
  return (
    <section className="card stack">
      <h2>{text.address}</h2>
      <p className="soft">{text.addressHint}</p>
      {opened && <Copy value={opened.url} />}
      <div className="row wrap">
        <Button onClick={() => void open()}>{text.openAddress}</Button>
        <Button onClick={() => void close()}>{text.closeAddress}</Button>
      </div>
      {opened && isSecretShown && (
        <SecretDialog title={text.opened} secret={opened.secret} onClose={() => showSecret(false)} />
      )}
    </section>
  );
}
