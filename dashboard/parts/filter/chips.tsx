import type { MouseEvent, ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Icon } from '../icon.tsx';
import type { Choice } from '../picker.tsx';
import { text } from '../../text/issues.ts';
import { useFilterChoices } from './choices.tsx';
import { isChip, type Chip, type Condition } from './filter.ts';
import { chipWords } from './words.ts';

interface ChipsProps {
  readonly conditions: readonly Condition[];
  readonly onEdit: (chip: Chip, at: number) => void;
  readonly onRemove: (at: number, event: MouseEvent<HTMLElement>) => void;
}

/** Loads later than the bar, because only chips need the names of all members, labels and states. */
export default function Chips({ conditions, onEdit, onRemove }: ChipsProps): ReactNode {
  const choices = useFilterChoices();
  return conditions.map((condition, at) => (
    <ChipButton
      // A changed chip stays the same element, which the focus returns to.
      key={at}
      condition={condition}
      choices={isChip(condition) ? choices[condition.field] : undefined}
      onEdit={(chip) => onEdit(chip, at)}
      onRemove={(event) => onRemove(at, event)}
    />
  ));
}

interface ChipButtonProps {
  readonly condition: Condition;
  readonly choices: readonly Choice[] | undefined;
  readonly onEdit: (chip: Chip) => void;
  readonly onRemove: (event: MouseEvent<HTMLElement>) => void;
}

function ChipButton({ condition, choices, onEdit, onRemove }: ChipButtonProps): ReactNode {
  const words = isChip(condition) ? chipWords(condition, choices) : text.other;
  return (
    <span className="chip">
      {isChip(condition) ? (
        <Button look="plain" onClick={() => onEdit(condition)}>
          <span className="cut">{words}</span>
        </Button>
      ) : (
        <span title={JSON.stringify(condition.tree)}>{words}</span>
      )}
      <Button look="plain" isIcon aria-label={text.remove(words)} onClick={onRemove}>
        <Icon name="close" />
      </Button>
    </span>
  );
}
