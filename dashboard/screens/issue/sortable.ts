// Drag of the items of a list by pointer. It loads apart from the page, because a list works without it.
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';

interface Sorting {
  /** Called with the index before which the dragged item would be placed; null if it is dragged elsewhere. */
  readonly onOver: (at: number | null) => void;
  /** @param at index before which the item was dropped */
  readonly onDrop: (id: string, at: number) => void;
}

/** @param ids ids of the items, in the order of the list @returns a function that ends it */
export function sortable(list: Element, ids: readonly string[], { onOver, onDrop }: Sorting): () => void {
  const items = [...list.children] as HTMLElement[];
  return combine(
    ...items.map((element, index) =>
      draggable({ element, getInitialData: () => ({ list, itemId: ids[index] }) }),
    ),
    dropTargetForElements({
      element: list,
      canDrop: ({ source }) => source.data['list'] === list,
      getData: ({ input }) => ({ at: items.filter((item) => middleOf(item) < input.clientY).length }),
      onDrag: ({ self }) => onOver(self.data['at'] as number),
      onDragLeave: () => onOver(null),
      onDrop({ self, source }) {
        onOver(null);
        onDrop(source.data['itemId'] as string, self.data['at'] as number);
      },
    }),
  );
}

function middleOf(item: HTMLElement): number {
  const { top, height } = item.getBoundingClientRect();
  return top + height / 2;
}
