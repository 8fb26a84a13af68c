import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Welcome(): ReactNode {
  return <Screen title="Welcome">{null}</Screen>;
}
