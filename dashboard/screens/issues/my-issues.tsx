import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function MyIssues(): ReactNode {
  return <Screen title="MyIssues">{null}</Screen>;
}
