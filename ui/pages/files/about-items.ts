/** What shows and changes metadata and access of items, as one script: in several, their common parts would be with the first load of the list. */
export { ItemPanel } from './item-panel.tsx'
export { ShareMany } from './share-many.tsx'
export { TagMany } from './tag-many.tsx'
