import { hintOf, visible } from '../lib/text.ts'

/** A name that a user chose: cut where it is too long, of its own direction of writing, with nothing hidden in it. */
export function Name({ children }: { readonly children: string }) {
  return (
    <bdi class="name" title={hintOf(children)}>
      {visible(children)}
    </bdi>
  )
}
