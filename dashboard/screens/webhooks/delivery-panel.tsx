import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { Failed, Loading } from '../../parts/states.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/developers.ts';
import { DeliveryActions, DeliveryView, useDelivery } from './delivery-view.tsx';
import styles from './webhooks.module.css';

interface DeliveryPanelProps {
  readonly id: string;
  readonly onClose: () => void;
  /** Shows the delivery below or above this one in the list. */
  readonly onMove: (by: 1 | -1) => void;
}

export function DeliveryPanel({ id, onClose, onMove }: DeliveryPanelProps): ReactNode {
  const { data, error, refetch } = useDelivery(id);
  useShortcuts([
    { keys: 'j', label: text.nextDelivery, run: () => onMove(1) },
    { keys: 'k', label: text.previousDelivery, run: () => onMove(-1) },
    { keys: 'escape', label: common.close, run: onClose },
  ]);
  return (
    <aside className={`${styles.panel} stack`} aria-label={text.delivery}>
      <div className="row wrap">
        <h2 className="grow cut">
          <Link to="/deliveries/$id" params={{ id }}>
            {data?.eventType ?? id}
          </Link>
        </h2>
        {data && <DeliveryActions delivery={data} />}
        <Button look="plain" isIcon aria-label={common.close} onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      {error && <Failed error={error} retry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data && <DeliveryView delivery={data} />}
    </aside>
  );
}
