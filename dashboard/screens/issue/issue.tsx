import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Issue(): ReactNode {
  return <Screen title="Issue">{null}</Screen>;
}
