"""Pictures come in by content, are kept as they came, and go out re-encoded under an address that ends."""

import io
import struct
import threading
import zlib

import pytest
from django.core.files.storage import default_storage
from PIL import Image as Pillow

from benchmarks.images import image_urls, pictures
from benchmarks.models import Image
from benchmarks.services.derivatives import MemoryBudget, derivative, derivative_name
from benchmarks.services.images import ImageRefused, store_image
from benchmarks.services.intake.picture_hashes import store_hash
from tests import pictures as draw

pytestmark = pytest.mark.django_db


def open_picture(name: str) -> Pillow.Image:
    with default_storage.open(name, "rb") as file:
        picture = Pillow.open(io.BytesIO(file.read()))
    picture.load()
    return picture


def refused(world, data: bytes, name: str = "a.jpg") -> ImageRefused:
    with pytest.raises(ImageRefused) as caught:
        store_image(world.team, data, name=name)
    assert not Image.objects.filter(team=world.team).exists()
    return caught.value


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_exif_orientation_is_shown_upright(world, orientation):
    data = draw.turned_jpeg(orientation, width=400, height=300)
    image, created = store_image(world.team, data, name="turned.jpg")
    assert created and image.orientation == orientation
    assert (image.width, image.height) == (400, 300)
    shown = open_picture(derivative(image.sha256, 240))
    assert shown.size == (240, 180)
    assert draw.corners(shown) == draw.CORNERS


def test_the_same_bytes_are_one_picture_per_team(world):
    data = draw.png()
    first, created = store_image(world.team, data, name="a.png")
    again, created_again = store_image(world.team, io.BytesIO(data), name="b.png")
    elsewhere, created_elsewhere = store_image(world.other_team, data, name="a.png")
    assert (created, created_again, created_elsewhere) == (True, False, True)
    assert first == again != elsewhere
    with default_storage.open(first.original_name) as file:
        assert file.read() == data


def test_a_picture_whose_file_is_lost_comes_back_when_it_is_sent_again(world):
    data = draw.png()
    image, _made = store_image(world.team, data, name="a.png")
    default_storage.delete(image.original_name)
    store_hash(image)
    assert Image.objects.get().perceptual_hash == "unreadable"
    assert store_image(world.team, data, name="b.png") == (image, False)
    with default_storage.open(image.original_name) as file:
        assert file.read() == data
    store_hash(Image.objects.get())
    assert len(Image.objects.get().perceptual_hash) == 70


def test_formats_are_told_by_content_not_by_name(world):
    for number, name in enumerate(("JPEG", "PNG", "WEBP", "GIF", "AVIF")):
        image, _made = store_image(world.team, draw.encode_picture(draw.plain(60 + number), name), name="always.jpg")
        assert image.format == name
        assert open_picture(derivative(image.sha256, 60 + number)).format == "WEBP"


def test_text_svg_html_and_other_files_are_refused_with_their_reason(world):
    assert refused(world, b"Not a picture at all\n" * 50).code == "text"
    assert (
        refused(world, b"\xef\xbb\xbf  <?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>").code == "markup"
    )
    assert refused(world, b"<!DOCTYPE html><script>alert(1)</script>").code == "markup"
    assert refused(world, b"%PDF-1.7\x00\x01\x02").code == "unknown"
    assert refused(world, draw.encode_picture(draw.plain(), "BMP")).code == "unknown"
    assert refused(world, b"").code == "empty"
    assert "text, not a picture" in refused(world, b"hello there", "photo.jpg").message


def test_truncated_pictures_are_refused(world):
    noisy = draw.noise(300, 200)
    for name in ("PNG", "JPEG", "WEBP", "GIF", "AVIF"):
        data = draw.encode_picture(noisy, name)
        assert refused(world, data[: len(data) // 2]).code == "damaged", name
    assert refused(world, draw.encode_picture(noisy, "PNG")[:20]).code == "damaged"


def test_a_bomb_is_refused_before_it_is_decoded(world, monkeypatch):
    bomb = draw.enormous_png(20_000, 20_000)
    assert len(bomb) < 1_000
    decoded = []
    monkeypatch.setattr(Pillow.Image, "load", lambda self: decoded.append(self))
    assert refused(world, bomb).code == "too_many_pixels"
    assert refused(world, bomb).message.startswith("The picture has 400 million pixels. The maximum is 80 million")
    assert refused(world, draw.enormous_png(10_000, 9_000)).message.startswith("The picture has 90 million pixels")
    assert decoded == []


def test_formats_that_take_much_memory_to_decode_may_have_fewer_pixels(world, monkeypatch):
    small = draw.encode_picture(Pillow.new("RGB", (6000, 6000), "red"), "WEBP", lossless=True, method=0)
    assert len(small) < 1_000
    deep = draw.encode_picture(Pillow.new("I;16", (7000, 7000)), "PNG", compress_level=1)
    decoded = []
    with monkeypatch.context() as patch:
        patch.setattr(Pillow.Image, "load", lambda self: decoded.append(self))
        assert refused(world, small).message.startswith("The picture has 36 million pixels. The maximum is 25 million")
        assert refused(world, deep).code == "too_many_pixels"
        assert decoded == []
    image, _made = store_image(
        world.team, draw.encode_picture(Pillow.new("L", (8000, 6000)), "JPEG"), name="camera.jpg"
    )
    assert (image.width, open_picture(derivative(image.sha256, 240)).size) == (8000, (240, 180))


def test_what_a_progressive_jpeg_holds_is_counted():
    def took(**options):
        data = draw.encode_picture(draw.noise(200, 100), "JPEG", **options)
        return pictures.decode_memory(io.BytesIO(data), 10**6) // 20_000

    assert took() == 5
    assert took(progressive=True, subsampling=2) == 8
    assert took(progressive=True, subsampling=0) == 11


def test_a_decoder_that_breaks_in_any_way_means_a_damaged_picture(world, monkeypatch):
    whole = draw.encode_picture(draw.noise(64, 48), "AVIF")
    broken = bytearray(whole)
    broken[whole.index(b"mdat") + 5] ^= 0xFF
    with pytest.raises(RuntimeError):
        Pillow.open(io.BytesIO(bytes(broken))).load()
    assert refused(world, bytes(broken)).code == "damaged"
    assert pictures.inspect(whole, 10**6).width == 64
    for fault in (RuntimeError("Failed to decode image"), MemoryError(), Pillow.DecompressionBombError("400 pixels")):

        def breaking(self, fault=fault):
            raise fault

        monkeypatch.setattr("PIL.ImageFile.ImageFile.load", breaking)
        assert refused(world, draw.png()).code == "damaged"
        with pytest.raises(pictures.NotAPicture):
            pictures.resize_to_webp(io.BytesIO(draw.png()), 60, 10**6)


def test_large_pictures_wait_until_there_is_room():
    room, order = MemoryBudget(100), []
    inside, leave = threading.Event(), threading.Event()

    def first():
        with room.reserve(60):
            inside.set()
            leave.wait(10)
            order.append("first is done")

    def second():
        with room.reserve(1000):
            order.append("second begins")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    leave.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first is done", "second begins"]


def test_a_picture_at_the_bound_is_taken_and_one_byte_more_is_not(world, settings):
    data = draw.png()
    settings.IMAGE_MAX_BYTES = len(data) - 1
    assert refused(world, data).code == "too_large"
    with pytest.raises(ImageRefused):
        store_image(world.team, io.BytesIO(data), name="a.png")
    settings.IMAGE_MAX_BYTES = len(data)
    assert store_image(world.team, data, name="a.png")[1]


def test_derivatives_carry_no_metadata_and_the_original_keeps_its_own(world):
    exif = Pillow.Exif()
    exif[0x010F] = "Secret camera"
    exif[0x8825] = {2: (30.0, 2.0, 0.0)}
    data = draw.encode_picture(draw.noise(500, 400), "JPEG", exif=exif, comment=b"my address", quality=95)
    assert b"Secret camera" in data and b"my address" in data
    image, _made = store_image(world.team, data, name="a.jpg")
    name = derivative(image.sha256, 480)
    with default_storage.open(name) as file:
        out = file.read()
    assert b"Secret" not in out and b"my address" not in out and b"EXIF" not in out and b"ICCP" not in out
    assert not open_picture(name).getexif()


def test_nothing_is_enlarged(world):
    image, _made = store_image(world.team, draw.png(100, 50), name="small.png")
    assert open_picture(derivative(image.sha256, 960)).size == (100, 50)
    assert image_urls.widths(image) == [100]


def test_odd_modes_become_plain_pictures(world):
    grey16 = Pillow.new("I;16", (64, 64), 32896)
    cmyk = Pillow.new("CMYK", (64, 64), (0, 255, 255, 0))
    clear = Pillow.new("RGBA", (64, 64), (0, 0, 0, 0))
    palette = draw.plain(64).convert("P")
    for number, (picture, name, expected) in enumerate(
        [(grey16, "PNG", (128, 128, 128)), (cmyk, "JPEG", (254, 0, 0)), (clear, "PNG", (255, 255, 255))]
    ):
        image, _made = store_image(world.team, draw.encode_picture(picture, name), name=f"{number}")
        pixel = open_picture(derivative(image.sha256, 64)).getpixel((32, 32))
        assert all(abs(a - b) <= 6 for a, b in zip(pixel, expected, strict=True)), (name, pixel)
    image, _made = store_image(world.team, draw.encode_picture(palette, "GIF"), name="p")
    assert open_picture(derivative(image.sha256, 64)).mode == "RGB"


def test_colours_are_turned_to_srgb_and_the_profile_is_left_behind(world):
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = draw.encode_picture(Pillow.new("RGB", (64, 64), (200, 40, 90)), "PNG", icc_profile=profile)
    image, _made = store_image(world.team, data, name="a.png")
    shown = open_picture(derivative(image.sha256, 64))
    assert "icc_profile" not in shown.info
    assert all(abs(a - b) <= 6 for a, b in zip(shown.getpixel((32, 32)), (200, 40, 90), strict=True))
    broken = draw.encode_picture(draw.plain(64), "PNG", icc_profile=b"no profile at all")
    image, _made = store_image(world.team, broken, name="b.png")
    assert open_picture(derivative(image.sha256, 64)).size == (64, 90)


def test_an_animation_shows_its_first_frame(world):
    frames = [Pillow.new("RGB", (50, 50), colour) for colour in ("red", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    image, _made = store_image(world.team, out.getvalue(), name="moving.gif")
    shown = open_picture(derivative(image.sha256, 50))
    assert getattr(shown, "n_frames", 1) == 1 and shown.getpixel((25, 25))[0] > 200


def test_makers_at_the_same_time_leave_one_whole_file(world):
    from concurrent.futures import ThreadPoolExecutor

    image, _made = store_image(world.team, draw.encode_picture(draw.noise(900, 700), "PNG"), name="a.png")
    with ThreadPoolExecutor(6) as pool:
        names = set(pool.map(lambda _number: derivative(image.sha256, 480), range(12)))
    assert names == {derivative_name(image.sha256, 480)}
    folder = derivative_name(image.sha256, 480).rsplit("/", 1)[0]
    made = [name for name in default_storage.listdir(folder)[1] if name.startswith(image.sha256)]
    assert made == [f"{image.sha256}-480.webp"]  # another test's picture may share the folder
    assert default_storage.listdir("incoming")[1] == []
    assert open_picture(names.pop()).size == (480, 373)


class TestAddress:
    @pytest.fixture
    def image(self, world):
        return store_image(world.team, draw.encode_picture(draw.noise(600, 300), "JPEG"), name="a.jpg")[0]

    def test_it_needs_no_session_and_says_how_to_treat_the_bytes(self, world, image):
        answer = world.client().get(image_urls.image_url(image, 240))
        assert answer.status_code == 200
        assert answer["Content-Type"] == "image/webp"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert "private" in answer["Cache-Control"] and "immutable" in answer["Cache-Control"]
        assert Pillow.open(io.BytesIO(b"".join(answer.streaming_content))).size == (240, 120)
        again = world.client().get(image_urls.image_url(image, 240), headers={"If-None-Match": answer["ETag"]})
        assert again.status_code == 304

    def test_it_is_the_same_within_a_period_and_ends(self, image, settings):
        period = settings.IMAGE_URL_SECONDS
        edge = int(image.sha256[:8], 16) % period
        start = 1_800_000_000 // period * period + edge
        first = image_urls.image_url(image, 240, now=start)
        assert first == image_urls.image_url(image, 240, now=start + period - 1)
        assert first != image_urls.image_url(image, 240, now=start + period)
        signed = first.split("/")[-2]
        assert image_urls.parse_grant(signed, now=start + 2 * period - 1)
        assert image_urls.parse_grant(signed, now=start + 2 * period) is None

    def test_expired_and_forged_addresses_are_not_found(self, world, image, settings):
        client = world.client(world.owner)
        good = image_urls.image_url(image, 240)
        assert client.get(good).status_code == 200
        assert client.get(image_urls.image_url(image, 240, now=0)).status_code == 404
        packed, _sep, signature = good.split("/")[-2].partition(":")
        other = packed[:-4] + ("AAAA" if packed[-4:] != "AAAA" else "BBBB")
        assert client.get(f"/image/{other}:{signature}/").status_code == 404
        assert client.get(f"/image/{packed}/").status_code == 404
        assert client.get("/image/nonsense/").status_code == 404
        assert client.post(good).status_code == 405

    def test_an_original_that_can_no_longer_be_read_is_not_found(self, world, image, settings):
        settings.IMAGE_MAX_PIXELS = 1000
        assert world.client().get(image_urls.image_url(image, 480)).status_code == 404

    def test_a_lost_original_is_not_found(self, world, image):
        default_storage.delete(image.original_name)
        assert world.client().get(image_urls.image_url(image, 480)).status_code == 404

    def test_the_tag_offers_every_width_the_picture_has(self, image):
        from django.template import Context, Template

        text = '{% load images %}{% picture image alt=words sizes="50vw" %}'
        html = Template(text).render(Context({"image": image, "words": "A <b>"}))
        assert 'width="600" height="300"' in html and "A &lt;b&gt;" in html
        assert [part.split()[-1] for part in html.split('srcset="')[1].split('"')[0].split(", ")] == [
            "240w",
            "480w",
            "600w",
        ]


def test_the_png_checksum_is_checked():
    good = draw.png(200, 200)
    bad = bytearray(good)
    bad[len(good) // 2] ^= 0xFF
    with pytest.raises(pictures.NotAPicture):
        pictures.inspect(bytes(bad), 10**6)
    assert pictures.inspect(good, 10**6).width == 200
    assert struct.unpack(">I", good[-4:])[0] == zlib.crc32(b"IEND")
