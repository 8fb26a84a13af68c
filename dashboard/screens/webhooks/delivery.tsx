import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { text } from '../../text/developers.ts';
import { DeliveryActions, DeliveryView, useDelivery } from './delivery-view.tsx';

export default function DeliveryPage(): ReactNode {
  const { id } = useParams({ from: '/deliveries/$id' });
  const { data, error, refetch } = useDelivery(id);
  if (error) return <FailedScreen error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <Screen title={`${text.delivery} ${data.eventType}`} actions={<DeliveryActions delivery={data} />}>
      <DeliveryView delivery={data} />
    </Screen>
  );
}
