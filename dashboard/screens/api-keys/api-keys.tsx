import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function ApiKeys(): ReactNode {
  return <Screen title="ApiKeys">{null}</Screen>;
}
