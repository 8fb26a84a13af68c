import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Project(): ReactNode {
  return <Screen title="Project">{null}</Screen>;
}
