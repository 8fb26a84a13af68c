import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Inbox(): ReactNode {
  return <Screen title="Inbox">{null}</Screen>;
}
