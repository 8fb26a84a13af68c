import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function View(): ReactNode {
  return <Screen title="View">{null}</Screen>;
}
