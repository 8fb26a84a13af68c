import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Delivery(): ReactNode {
  return <Screen title="Delivery">{null}</Screen>;
}
