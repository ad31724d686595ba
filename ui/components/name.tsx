import { hintOf, visible } from '../lib/text.ts'

/**
 * A name that a user has chosen: shortened if it is too long, with its own text direction and visible hidden
 * characters.
 */
export function Name({ children }: { readonly children: string }) {
  return (
    <bdi class="name" title={hintOf(children)}>
      {visible(children)}
    </bdi>
  )
}
