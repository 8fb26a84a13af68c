import { useNavigate } from '@tanstack/react-router';
import type { Webhook } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Confirm } from '../../parts/overlay/confirm.tsx';
import { SecretDialog } from '../../parts/overlay/secret-dialog.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { ReplayMany, SendSample } from './webhook-forms.tsx';

export const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['webhooks'] });

/** Open dialog of an endpoint. */
export type Open = 'sample' | 'replay' | 'rotate' | 'delete';

interface DialogsProps {
  readonly webhook: Webhook;
  readonly open: Open | null;
  readonly onClose: () => void;
}

export function WebhookDialogs({ webhook, open, onClose }: DialogsProps): ReactNode {
  const write = useWrite();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string | null>(null);
  const { id } = webhook;
  const done = (): void => void refresh();
  const rotate = async (): Promise<void> => {
    const rotated = await write((client) => client.webhooks.rotate(id));
    if (rotated) setSecret(rotated.secret);
    done();
  };
  const remove = async (): Promise<void> => {
    const isDeleted = await write(async (client) => (await client.webhooks.delete(id), true));
    if (isDeleted) void navigate({ to: '/webhooks' });
  };
  if (secret !== null)
    return <SecretDialog title={text.rotated} secret={secret} onClose={() => setSecret(null)} />;
  switch (open) {
    case null:
      return null;
    case 'sample':
      return <SendSample id={id} onClose={onClose} onDone={done} />;
    case 'replay':
      return <ReplayMany id={id} onClose={onClose} onDone={done} />;
    case 'rotate':
      return (
        <Confirm
          title={text.rotateTitle}
          hint={text.rotateHint}
          action={text.rotate}
          onClose={onClose}
          onConfirm={() => void rotate()}
        />
      );
    case 'delete':
      return (
        <Confirm
          title={text.deleteTitle}
          hint={text.deleteHint}
          action={common.delete}
          onClose={onClose}
          onConfirm={() => void remove()}
        />
      );
  }
}
